
// What is there to be pasted can be copied with a button, where the browser lets a page do that.
(() => {
  "use strict";
  const selected = (pre) => {
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
    button.hidden = false;
    button.addEventListener("click", async () => {
      button.textContent = (await copied(button.parentElement.querySelector("pre"))) ? "Copied" : "Press Ctrl-C";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
})();
