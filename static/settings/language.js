// The language of pages and answers; the page is loaded anew in it.

import { toast } from "../chat/dialogs.js";
import { h } from "../chat/dom.js";

export async function startLanguage(api) {
  const choice = document.getElementById("language-choice");
  try {
    const { language, languages } = await api.get("v3/me/preferences");
    choice.replaceChildren(...languages.map(({ code, name }) => h("option", { value: code, lang: code, selected: code === language }, name)));
  } catch (error) {
    toast(error.message, true);
    return;
  }
  choice.addEventListener("change", async () => {
    try {
      await api.json("PATCH", "v3/me/preferences", { body: { language: choice.value } });
      location.reload();
    } catch (error) {
      toast(error.message, true);
    }
  });
}
