/* The page's behaviour: views change in place and stay fresh without moving under the reader; dialogs; ages. Keys and the
   command bar are in keys.js. */
"use strict";
const page = (() => {
  const $ = (sel, at = document) => at.querySelector(sel);
  const $$ = (sel, at = document) => [...at.querySelectorAll(sel)];
  let have = "", asking = null, again = false, lastBeat = Date.now(), source = null, lostAt = 0, held = false;

  /* --- fresh views ------------------------------------------------------------------------- */
  // Lists wait while somebody reads in them: the pointer or the focus is inside, rows are selected, or a dialog is open.
  const reading = () => $("dialog[open]") || $("[data-list]:hover") || $("[data-bulk] input:checked") || (document.activeElement && document.activeElement.closest("[data-list], form"));
  async function fetchPart(url, signal) {
    const res = await fetch(url, { headers: { "X-Part": "main", "X-Have": have }, signal });
    if (res.status === 401) { location.reload(); return null; }
    if (res.status === 204) { return null; }
    const part = $("#fragment", new DOMParser().parseFromString(await res.text(), "text/html"));
    return part && { part, tag: res.headers.get("X-View") || "" };
  }
  async function refresh(force) {
    if (document.hidden && !force) { return; }
    if (asking) { again = true; return; }
    asking = new AbortController();
    try {
      const got = await fetchPart(location.pathname + location.search, asking.signal);
      if (!got) { return; }
      frame(got.part);
      held = !!reading() && !force;
      if (!held) { have = got.tag; morph("main", got.part, true); }
      const chip = $("#held"); if (chip) { chip.hidden = !held; }
      ages();
    } catch (e) { /* the stream tells when the connection is lost */ } finally {
      asking = null;
      if (again) { again = false; setTimeout(refresh, 1000); }
    }
  }
  // frame renews what is around the view: title, icon, counts.
  function frame(part) {
    document.title = part.dataset.title || document.title;
    const icon = $("#favicon"), href = "/ui/static/icon-" + part.dataset.icon + ".svg";
    if (icon && icon.getAttribute("href") !== href) { icon.href = href; }
    for (const id of ["nav", "bar", "hints", "tabbar"]) { morph(id, part); }
  }
  // What is the same as before is not looked into: most rows of a large list.
  const differ = (was, is) => !was.isEqualNode(is);
  function morph(id, part, mark, anew) {
    const now = document.getElementById(id), next = $("#" + id, part);
    if (!now || !next) { return; }
    if (id === "bar") { const live = $("#live", now), to = $("#live", next); if (live && to) { to.replaceWith(live.cloneNode(true)); } }
    const before = mark ? new Map($$("tr[id], .card[id], .task[id], .queue li[id]", now).map(x => [x.id, x.textContent])) : null;
    // The children alone: an element that has the focus keeps its children, and after a change of view that is <main>.
    // As nodes: a text would be parsed once more. Another view has nothing to keep.
    if (anew) { now.replaceChildren(...next.childNodes); } else { Idiomorph.morph(now, next.childNodes, { morphStyle: "innerHTML", ignoreActiveValue: true, callbacks: { beforeNodeMorphed: differ } }); }
    if (!before || !before.size) { return; }
    const ticking = /\d+ (s|min)|now/g;
    for (const x of $$("tr[id], .card[id], .task[id], .queue li[id]", now)) {
      const was = before.get(x.id);
      if (was === undefined || was.replace(ticking, "") !== x.textContent.replace(ticking, "")) { x.classList.add("changed"); setTimeout(() => x.classList.remove("changed"), 1700); }
    }
  }

  /* --- moving between views without loading the page anew ------------------------------------- */
  let going = null;
  async function go(url, replace, keep) {
    if (going) { going.abort(); }
    if (asking) { asking.abort(); }
    const mine = going = new AbortController();
    const main = $("#main");
    const slow = setTimeout(() => main.setAttribute("aria-busy", "true"), 300);
    try {
      have = "";
      const got = await fetchPart(url, mine.signal);
      if (!got) { location.href = url; return; }
      const same = new URL(url, location.href).pathname === location.pathname;
      if (replace) { history.replaceState(null, "", url); } else { history.pushState(null, "", url); }
      frame(got.part);
      have = got.tag;
      morph("main", got.part, false, !same);
      if (!same && !keep) { scrollTo(0, 0); main.focus({ preventScroll: true }); }
      const at = location.hash && document.getElementById(location.hash.slice(1)); if (at) { at.scrollIntoView(); }
      ages();
    } catch (e) { if (e.name !== "AbortError") { location.href = url; } } finally { clearTimeout(slow); main.removeAttribute("aria-busy"); if (going === mine) { going = null; } }
  }
  addEventListener("popstate", () => go(location.pathname + location.search + location.hash, true, true));
  document.addEventListener("mouseleave", e => { if (held && e.target.matches && e.target.matches("[data-list]")) { refresh(); } }, true);

  /* --- live stream ---------------------------------------------------------------------------- */
  function connect() {
    if (source) { source.close(); }
    source = new EventSource("/ui/live");
    source.addEventListener("news", () => { alive(); refresh(); });
    source.addEventListener("beat", alive);
  }
  function alive() {
    lastBeat = Date.now();
    if (!lostAt) { return; }
    lostAt = 0;
    document.body.classList.remove("stale");
    $("#banner").hidden = true;
    say("live", "Live");
    refresh(true);
  }
  function say(icon, text) {
    const live = $("#live");
    if (live) { $("use", live).setAttribute("href", "#i-" + icon); $("span", live).textContent = text; }
  }
  setInterval(() => {
    if (Date.now() - lastBeat < 6000) { return; }
    const since = new Date(lostAt || lastBeat).toLocaleTimeString();
    if (!lostAt) { lostAt = lastBeat; document.body.classList.add("stale"); }
    const banner = $("#banner");
    banner.hidden = false;
    say("off", "Since " + since);
    $("span", banner).textContent = "Disconnected since " + since + ". What you see is " + span((Date.now() - lostAt) / 1000) + " old. Actions are off. Trying again by itself.";
    if (source && source.readyState === EventSource.CLOSED) { connect(); }
  }, 1000);
  setInterval(refresh, 5000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) { refresh(); } });

  /* --- ages -------------------------------------------------------------------------------------- */
  const span = s => s < 60 ? Math.floor(s) + " s" : s < 3600 ? Math.floor(s / 60) + " min" : Math.floor(s / 3600) + " h";
  function ages() {
    for (const t of document.querySelectorAll("time[datetime]:not([data-abs])")) {
      const s = (Date.now() - Date.parse(t.dateTime)) / 1000;
      if (s >= 0 && s < 3600) { const text = s < 5 ? "now" : span(s); if (t.textContent !== text) { t.textContent = text; } }
    }
  }
  setInterval(ages, 10000);

  /* --- dialogs ------------------------------------------------------------------------------------- */
  const stale = () => document.body.classList.contains("stale");
  async function open(url) {
    if (stale()) { return; }
    const res = await fetch(url);
    if (res.status === 401) { location.reload(); return; }
    show(await res.text());
  }
  function show(html) {
    const box = $("#dialogs");
    box.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    const dialog = $("dialog", box);
    if (!dialog) { return; }
    dialog.addEventListener("close", () => box.replaceChildren());
    dialog.showModal();
    const first = $("input:not([type=hidden]), select", dialog) || $("textarea", dialog) || $("button[data-close]", dialog);
    if (first) { first.focus(); }
  }
  document.addEventListener("submit", async e => {
    const form = e.target.closest("dialog form");
    if (form) {
      e.preventDefault();
      const button = $("button.primary", form), word = button.textContent;
      button.disabled = true;
      button.textContent = "…";
      try {
        const res = await fetch(form.getAttribute("action"), { method: "POST", body: new URLSearchParams(new FormData(form)) });
        const text = await res.text();
        if (res.ok) { form.closest("dialog").close(); for (const x of $$("[data-bulk] input:checked")) { x.checked = false; } bulk(); toast(text, true); refresh(true); } else if (text.includes("<dialog")) { show(text); } else { toast(text || "It did not work. Nothing was changed."); }
      } catch (err) { toast("The service did not answer. It is not known whether it was done: look before you try again."); } finally { button.disabled = false; button.textContent = word; }
      return;
    }
    const filter = e.target.closest("form[role=search]");
    if (filter) { e.preventDefault(); go(filter.getAttribute("action") + "?" + new URLSearchParams([...new FormData(filter)].filter(x => x[1]))); }
  });
  function toast(text, ok) {
    const box = document.createElement("div");
    box.className = "toast " + (ok ? "is-ok" : "is-error");
    box.innerHTML = '<svg class="icon" aria-hidden="true"><use href="#i-' + (ok ? "ok" : "error") + '"/></svg><div></div>';
    box.lastChild.textContent = text;
    $("#toasts").append(box);
    setTimeout(() => box.remove(), ok ? 6000 : 12000);
  }

  /* --- several at once ------------------------------------------------------------------------------- */
  function bulk() {
    for (const form of $$("[data-bulk]")) {
      const n = $$("input:checked", form).length, bar = $(".bulk", form);
      if (bar) { bar.hidden = n === 0; $("[data-count]", bar).textContent = n + " selected"; }
    }
  }
  document.addEventListener("change", e => {
    if (e.target.closest("[data-bulk]")) { bulk(); }
    if (e.target.id === "scrub") { go("?view=gantt&at=" + e.target.dataset.ids.split(",")[e.target.value], true); }
  });

  /* --- clicks ------------------------------------------------------------------------------------------ */
  document.addEventListener("click", async e => {
    const act = e.target.closest("[data-act]");
    if (act) {
      const ids = $$("input:checked", act.closest("[data-bulk]")).map(x => "id=" + encodeURIComponent(x.value));
      open("/ui/dialog/" + act.dataset.act + "?" + ids.join("&"));
      return;
    }
    const copy = e.target.closest("[data-copy]");
    if (copy) {
      const url = new URL(copy.dataset.copy, location.href);
      try { await navigator.clipboard.writeText(url.href); toast("The link is copied.", true); } catch (err) { history.replaceState(null, "", url); toast("The address above is the link.", true); }
      return;
    }
    if (e.target.closest("[data-close]")) { e.target.closest("dialog").close(); return; }
    if (e.target.closest("#held")) { refresh(true); return; }
    if (e.target.closest("#try")) { connect(); refresh(true); return; }
    const link = e.target.closest("a[href]");
    if (!link || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || link.hasAttribute("download")) { return; }
    if (link.hasAttribute("data-dialog")) { e.preventDefault(); const bar = link.closest("#palette"); if (bar) { bar.close(); } open(link.getAttribute("href")); return; }
    const url = new URL(link.getAttribute("href"), location.href);
    if (url.origin !== location.origin || !url.pathname.startsWith("/ui/") || url.searchParams.has("project") || link.getAttribute("href").startsWith("#")) { return; }
    e.preventDefault();
    const bar = link.closest("dialog"); if (bar) { bar.close(); }
    go(url.pathname + url.search + url.hash);
  });

  connect();
  ages();
  return { $, $$, go, open, refresh, toast, bulk };
})();
