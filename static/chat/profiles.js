// Assistant profiles: which there are, which one the next message asks for.

import { h, icon } from "./dom.js";
import { gettext } from "./i18n.js";
import { openMenu } from "./menu.js";

export class Profiles {
  list = [];

  // The page works without them: a message then takes the session's or the site's.
  async load(api) {
    try {
      this.list = await api.get("v3/profiles");
    } catch {
      this.list = [];
    }
  }

  get default() {
    return this.list.find((profile) => profile.is_default) ?? this.list[0] ?? null;
  }

  // One that the person may no longer use is unknown here.
  find(name) {
    return this.list.find((profile) => profile.name === name) ?? null;
  }

  openMenu(anchor, current, onChoose) {
    openMenu(anchor, gettext("Assistant"), this.list.map((profile) => ({
      label: profile.title,
      hint: profile.description,
      isChosen: profile.name === current?.name,
      act: () => onChoose(profile),
    })));
  }
}

// The label of a conversation that another assistant than the usual one answers.
export const profileBadge = (profile) => h("span", { class: "badge" }, icon("hop"), profile.title);

// The choice in an empty conversation: native radio buttons, so arrow keys move.
export function profileChoice(profiles, current, onChoose) {
  return h("fieldset", { class: "profiles" },
    h("legend", { class: "sr" }, gettext("Assistant")),
    ...profiles.map((profile) => h("label", { class: "profiles__one" },
      h("input", { type: "radio", name: "profile", value: profile.name, checked: profile.name === current?.name, "aria-describedby": `profile-${profile.name}`, onchange: () => onChoose(profile) }),
      h("span", { class: "grow" }, h("b", {}, profile.title), h("span", { class: "profiles__about", id: `profile-${profile.name}` }, profile.description)))));
}
