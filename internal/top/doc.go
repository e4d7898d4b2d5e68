// Package top is the supervisor's page in a terminal: what needs a person, the fleet, the locks, the queue, the runs.
//
// Everything comes through the public API. A picture is asked for every two seconds and when the live view has news; while
// the coordinator cannot be reached the last picture stays, with the time since when. Rendering is a pure function of the
// picture and the terminal's size.
package top
