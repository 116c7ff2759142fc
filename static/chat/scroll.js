// Keeps the newest line in view while the reader is at the end, never otherwise.

const NEAR = 60;

export class StickyScroll {
  isAtEnd = true;

  constructor(box, jump) {
    this.box = box;
    this.jump = jump;
    box.addEventListener("scroll", () => {
      this.isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
      if (this.isAtEnd) jump.hidden = true;
    });
    jump.addEventListener("click", () => this.toEnd());
  }

  // Call after each change of the content.
  settle() {
    if (this.isAtEnd) this.box.scrollTop = this.box.scrollHeight;
    else this.jump.hidden = false;
  }

  toEnd() {
    this.isAtEnd = true;
    this.jump.hidden = true;
    this.box.scrollTop = this.box.scrollHeight;
  }
}
