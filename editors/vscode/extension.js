// Starts `horai lsp` and lets it answer what the editor asks.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("horai").get("command");
  const documents = [{ language: "horai" }, { language: "horai-lars" }];
  client = new LanguageClient("horai", { command, args: ["lsp"] }, { documentSelector: documents });
  return client.start();
};

exports.deactivate = () => client?.stop();
