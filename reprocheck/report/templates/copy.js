
// What is there to be pasted can be copied with a button, where the browser lets a page do that.
(() => {
  "use strict";
  const selected = (pre) => {
    const folded = pre.closest("details");
    if (folded) folded.open = true;
    const range = document.createRange();
    range.selectNodeContents(pre);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  };
  const copied = async (pre) => {
    try {
      await navigator.clipboard.writeText(pre.textContent.replace(/\n$/, ""));
      return true;
    } catch {
      return selected(pre);
    }
  };
  for (const button of document.querySelectorAll("button.copy")) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      button.textContent = (await copied(button.parentElement.querySelector("pre"))) ? button.dataset.copied : button.dataset.failed;
      setTimeout(() => { button.textContent = label; }, 2000);
    });
  }
})();
