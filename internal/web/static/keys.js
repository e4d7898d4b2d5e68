/* The keyboard: the command bar, moving in lists, single letters that do what a button with that letter does. */
"use strict";
(() => {
  const { $, $$, go, open, refresh, bulk } = page;

  /* --- command bar ----------------------------------------------------------------------------------- */
  const bar = $("#palette"), field = $("input", bar), box = $("#choices");
  let asked = 0, shown = "";
  async function ask() {
    const mine = ++asked, q = field.value.trim();
    const res = await fetch("/ui/find?q=" + encodeURIComponent(q));
    if (mine !== asked || !res.ok) { return; }
    box.replaceChildren(...new DOMParser().parseFromString(await res.text(), "text/html").body.childNodes);
    shown = q;
    choose(0);
  }
  const choices = () => $$("[role=option]", box);
  const chosen = () => choices().findIndex(x => x.getAttribute("aria-selected") === "true");
  function choose(i) {
    const all = choices();
    all.forEach((x, n) => x.setAttribute("aria-selected", n === i ? "true" : "false"));
    if (all[i]) { field.setAttribute("aria-activedescendant", all[i].id); all[i].scrollIntoView({ block: "nearest" }); } else { field.removeAttribute("aria-activedescendant"); }
  }
  function command() {
    if (bar.open || $("dialog[open]")) { return; }
    field.value = "";
    box.replaceChildren();
    bar.showModal();
    field.focus();
    ask();
  }
  let wait = 0;
  field.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(ask, 60); });
  field.addEventListener("keydown", async e => {
    const all = choices(), at = chosen();
    if (e.key === "ArrowDown" || e.key === "ArrowUp") { e.preventDefault(); choose((at + (e.key === "ArrowDown" ? 1 : all.length - 1)) % Math.max(all.length, 1)); }
    if (e.key === "Enter") { e.preventDefault(); if (shown !== field.value.trim()) { clearTimeout(wait); await ask(); } const to = choices()[Math.max(0, chosen())]; if (to) { to.click(); } }
  });
  bar.addEventListener("click", e => { if (e.target === bar) { bar.close(); } });
  document.addEventListener("click", e => { if (e.target.closest("#command, #more")) { command(); } });

  /* --- lists --------------------------------------------------------------------------------------------- */
  const items = () => $$("#main [data-list] [data-item], #main [data-list][data-item]").filter(x => x.offsetParent !== null);
  const current = list => { const at = list.indexOf(document.activeElement); return at >= 0 ? at : list.findIndex(x => x.getAttribute("aria-current") || x.closest("tr[aria-selected=true]")); };
  function move(by) {
    const list = items();
    if (!list.length) { return; }
    const at = current(list), to = list[at < 0 ? 0 : Math.max(0, Math.min(list.length - 1, at + by))];
    to.focus();
    if (to.closest("[data-follow]") && to.href) { follow(to); }
  }
  // The pane beside the list follows, without a new entry in the history.
  let following = 0;
  function follow(link) {
    clearTimeout(following);
    following = setTimeout(async () => { const url = link.getAttribute("href"); await go(url, true, true); const now = $$("[data-item]").find(x => x.getAttribute("href") === url); if (now) { now.focus(); } }, 80);
  }
  function fold(wide) {
    const row = document.activeElement && document.activeElement.closest("tr[aria-expanded]");
    if (!row || (row.getAttribute("aria-expanded") === "true") === wide) { return false; }
    const id = row.id;
    go($("a[data-item]", row).getAttribute("href"), true, true).then(() => { const now = document.getElementById(id), a = now && $("a[data-item]", now); if (a) { a.focus(); } });
    return true;
  }

  /* --- keys ------------------------------------------------------------------------------------------------ */
  const off = $("#nokeys");
  try { off.checked = localStorage.getItem("nokeys") === "1"; } catch (e) { /* no storage: the letters work */ }
  off.addEventListener("change", () => { try { localStorage.setItem("nokeys", off.checked ? "1" : ""); } catch (e) { /* for this page only, then */ } });
  let prefix = 0;
  document.addEventListener("keydown", e => {
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") { e.preventDefault(); if (bar.open) { bar.close(); } else { command(); } return; }
    const dialog = $("dialog[open]");
    if (dialog && (e.ctrlKey || e.metaKey) && e.key === "Enter") { const b = $("button.primary", dialog); if (b) { b.click(); } return; }
    if (dialog || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input:not([type=checkbox]), textarea, select")) { return; }
    if (e.key === "ArrowRight" || e.key === "ArrowLeft") { if (fold(e.key === "ArrowRight")) { e.preventDefault(); } return; }
    if (off.checked) { return; }
    if (e.key === "g") { prefix = Date.now(); return; }
    if (Date.now() - prefix < 1500) {
      prefix = 0;
      const to = $$("#nav a").find(a => a.title.endsWith("(g " + e.key + ")"));
      if (to) { e.preventDefault(); go(to.getAttribute("href")); }
      return;
    }
    const row = document.activeElement;
    switch (true) {
      case e.key === "j" || e.key === "k": e.preventDefault(); move(e.key === "j" ? 1 : -1); return;
      case e.key === "/": { const f = $("#main input[type=search]"); e.preventDefault(); if (f) { f.focus(); f.select(); } else { command(); } return; }
      case e.key === "?": e.preventDefault(); $("#keys").showModal(); return;
      case e.key === ".": refresh(true); return;
      case e.key === "x": { const box = row && row.closest("tr") && $("input[type=checkbox]", row.closest("tr")); if (box) { e.preventDefault(); box.checked = !box.checked; bulk(); } return; }
      case /^[1-9]$/.test(e.key) && !!row && !!row.dataset.task: e.preventDefault(); open("/ui/dialog/prioritise?id=" + row.dataset.task + "&priority=" + e.key); return;
    }
    const act = $('[data-key="' + CSS.escape(e.key) + '"]');
    if (act) { e.preventDefault(); act.click(); }
  });
})();
