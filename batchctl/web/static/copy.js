// A button beside each command, which copies it. Without this script the command is selected as a whole by a click.
"use strict";

function copied(command, button) {
  const said = button.nextElementSibling;
  navigator.clipboard.writeText(command.textContent).then(
    () => { said.textContent = "Copied."; },
    () => {
      getSelection().selectAllChildren(command);
      said.textContent = "Selected: copy it with the keyboard.";
    },
  );
}

for (const command of document.querySelectorAll("pre.command")) {
  const button = document.createElement("button");
  const said = document.createElement("span");
  button.type = "button";
  button.textContent = "Copy";
  button.className = "copy";
  said.setAttribute("role", "status");
  button.addEventListener("click", () => copied(command, button));
  command.after(button, " ", said);
}
