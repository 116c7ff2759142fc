// The page of one's settings: starts its sections.

import { Api } from "../chat/api.js";
import { startLanguage } from "./language.js";
import { ModelsView } from "./models.js";

const { root, urls, is_staff: isStaff, choices } = JSON.parse(document.getElementById("bootstrap").textContent);
const api = new Api({ root, loginUrl: urls.login });

new ModelsView(api, { choices, isStaff }).load();
startLanguage(api);
