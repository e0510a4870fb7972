// A button beside each command, which copies it. Without this script the command is selected as a whole by a click.
"use strict";

function copied(command, said) {
  navigator.clipboard.writeText(command.textContent).then(
    () => { said.textContent = "Copied."; },
    () => {
      getSelection().selectAllChildren(command);
      said.textContent = "Selected: copy it with the keyboard.";
    },
  );
}

function addButton(command) {
  const button = document.createElement("button");
  const said = document.createElement("span");
  button.type = "button";
  button.textContent = "Copy";
  button.className = "copy";
  said.setAttribute("role", "status");
  button.addEventListener("click", () => copied(command, said));
  command.after(button, " ", said);
}

function addButtons() {
  for (const command of document.querySelectorAll("pre.command")) {
    if (!command.nextElementSibling?.classList.contains("copy")) addButton(command);
  }
}

addButtons();
// A page that follows what changes is replaced in parts, and its buttons with them.
new MutationObserver(addButtons).observe(document.body, { childList: true, subtree: true });
