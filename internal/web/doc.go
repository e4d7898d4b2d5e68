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
// What a view shows is in its address: filters, open folders, the selected thing. So a link shows what its sender saw, and
// going from view to view is the same fetch and morph as staying fresh, with the address changed.
//
// # Acts
//
// An act is an operation with its words (actions): a dialog says what it will do to these things now (preview), asks for
// the reason and what else it needs, and posts it. Several ids are done one after the other; the first refusal ends it.
//
// # Safety
//
// The key is kept in a cookie that scripts cannot read and other sites cannot send. Every act is a POST whose origin is
// checked. The content security policy allows nothing but files of this package; no view has inline script or style.
//
// static/idiomorph.js is idiomorph 0.7.4 (Zero-Clause BSD, npm), unchanged.
package web
