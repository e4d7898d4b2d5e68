/* The page's behaviour: keep the view fresh without moving it under the reader, dialogs, keys, ages. */
"use strict";
(() => {
  const $ = (sel, at = document) => at.querySelector(sel);
  let have = "", asking = false, again = false, lastBeat = Date.now(), source = null, lostAt = 0;

  /* --- fresh views ------------------------------------------------------------------------- */
  // Lists wait while somebody reads in them: the pointer or the focus is inside, or a dialog is open.
  const reading = () => $("dialog[open]") || $("[data-list]:hover") || (document.activeElement && document.activeElement.closest("[data-list], form"));
  async function refresh(force) {
    if (document.hidden && !force) { return; }
    if (asking) { again = true; return; }
    asking = true;
    try {
      const res = await fetch(location.pathname + location.search, { headers: { "X-Part": "main", "X-Have": have } });
      if (res.status === 401) { location.reload(); return; }
      if (res.status === 204) { return; }
      const text = await res.text();
      const doc = new DOMParser().parseFromString(text, "text/html");
      const part = $("#fragment", doc);
      if (!part) { return; }
      document.title = part.dataset.title || document.title;
      for (const id of ["nav", "bar", "tabbar"]) { morph(id, part); }
      const held = reading() && !force;
      if (!held) { have = res.headers.get("X-View") || ""; morph("main", part); }
      const chip = $("#held"); if (chip) { chip.hidden = !held; }
      ages();
    } catch (e) { /* the stream tells when the connection is lost */ } finally {
      asking = false;
      if (again) { again = false; setTimeout(refresh, 1000); }
    }
  }
  function morph(id, part) {
    const now = document.getElementById(id), next = $("#" + id, part);
    if (now && next) { Idiomorph.morph(now, next.cloneNode(true), { ignoreActiveValue: true }); }
  }
  document.addEventListener("mouseleave", e => { if (e.target.matches && e.target.matches("[data-list]")) { refresh(); } }, true);

  /* --- live stream ---------------------------------------------------------------------------- */
  function connect() {
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
    refresh(true);
  }
  setInterval(() => {
    if (Date.now() - lastBeat < 6000) { return; }
    if (!lostAt) { lostAt = lastBeat; document.body.classList.add("stale"); }
    const banner = $("#banner");
    banner.hidden = false;
    $("span", banner).textContent = "Disconnected since " + new Date(lostAt).toLocaleTimeString() + ". What you see is " + span((Date.now() - lostAt) / 1000) + " old. Actions are off. Trying again by itself.";
  }, 1000);
  setInterval(refresh, 5000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) { refresh(); } });

  /* --- ages -------------------------------------------------------------------------------------- */
  const span = s => s < 60 ? Math.floor(s) + " s" : s < 3600 ? Math.floor(s / 60) + " min" : Math.floor(s / 3600) + " h";
  function ages() {
    for (const t of document.querySelectorAll("time[datetime]")) {
      const s = (Date.now() - Date.parse(t.dateTime)) / 1000;
      if (s >= 0 && s < 3600) { const text = s < 5 ? "now" : span(s); if (t.textContent !== text) { t.textContent = text; } }
    }
  }
  setInterval(ages, 10000);

  /* --- dialogs ------------------------------------------------------------------------------------- */
  document.addEventListener("click", async e => {
    const link = e.target.closest("a[data-dialog]");
    if (link) { e.preventDefault(); if (!document.body.classList.contains("stale")) { open(link.getAttribute("href")); } return; }
    if (e.target.closest("[data-close]")) { e.target.closest("dialog").close(); }
    if (e.target.closest("#held")) { refresh(true); }
  });
  async function open(url) {
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
    const first = $("textarea", dialog) || $("button[data-close]", dialog);
    if (first) { first.focus(); }
  }
  document.addEventListener("submit", async e => {
    const form = e.target.closest("dialog form");
    if (!form) { return; }
    e.preventDefault();
    const button = $("button.primary", form);
    button.disabled = true;
    try {
      const res = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      const text = await res.text();
      if (res.ok) { form.closest("dialog").close(); toast(text); refresh(true); } else if (text.includes("<dialog")) { const reason = $("textarea", form); show(text); const field = $("#dialogs textarea"); if (field && reason) { field.value = reason.value; } } else { toast(text || "It did not work. Nothing was changed."); }
    } catch (err) { toast("The service did not answer. It is not known whether it was done: look before you try again."); } finally { button.disabled = false; }
  });
  function toast(text) {
    const box = document.createElement("div");
    box.className = "toast is-ok";
    box.textContent = text;
    $("#toasts").append(box);
    setTimeout(() => box.remove(), 6000);
  }

  /* --- keys ------------------------------------------------------------------------------------------- */
  let prefix = 0;
  document.addEventListener("keydown", e => {
    const dialog = $("dialog[open]");
    if (dialog && (e.ctrlKey || e.metaKey) && e.key === "Enter") { const b = $("button.primary", dialog); if (b) { b.click(); } return; }
    if (dialog || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select")) { return; }
    if (e.key === "g") { prefix = Date.now(); return; }
    if (Date.now() - prefix < 1500) {
      prefix = 0;
      const to = [...document.querySelectorAll("#nav a")].find(a => a.title.endsWith("(g " + e.key + ")"));
      if (to) { e.preventDefault(); to.click(); }
      return;
    }
    if (e.key === "j" || e.key === "k") {
      const items = [...document.querySelectorAll("[data-list] [data-item], [data-list] tbody a")];
      if (!items.length) { return; }
      e.preventDefault();
      const at = items.indexOf(document.activeElement);
      (items[Math.max(0, Math.min(items.length - 1, at + (e.key === "j" ? 1 : -1)))] || items[0]).focus();
      return;
    }
    if (e.key === "/") { const f = $("input[type=search]"); if (f) { e.preventDefault(); f.focus(); } return; }
    if (e.key === ".") { refresh(true); return; }
    const act = document.querySelector('[data-key="' + CSS.escape(e.key) + '"]');
    if (act) { e.preventDefault(); act.click(); }
  });

  connect();
  ages();
})();
