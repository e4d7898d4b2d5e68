// Package web is the supervisor's page: server-rendered views over the same operations that every other door offers,
// called as the person whose key logged in. It knows no database; what it shows and does, anybody can show and do over
// HTTP.
//
// # Live
//
// A view is complete HTML. The browser holds one event stream (/ui/live) that says "something changed", asks for its own
// view again as a fragment and morphs it in, so that focus, selection and scroll position stay. While the pointer or the
// focus is in a list, the list waits. Without the stream the page says since when, and its buttons are off.
//
// # Safety
//
// The key is kept in a cookie that scripts cannot read and other sites cannot send. Every act is a POST whose origin is
// checked. The content security policy allows nothing but files of this package; no view has inline script or style.
//
// static/idiomorph.js is idiomorph 0.7.4 (Zero-Clause BSD, npm), unchanged.
package web
