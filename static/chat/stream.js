// Server-sent events from fetch. Buffers bytes, so any cut (inside a UTF-8
// character, between CR and LF, inside a field's name) gives the same events.

const LF = 10;
const CR = 13;

export class SseParser {
  #rest = new Uint8Array(0);
  #skipLf = false;
  #isFirstLine = true;
  #data = [];
  #event = "";
  #id = "";
  // ignoreBOM keeps a BOM inside the stream as text; only the very first is dropped.
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  push(chunk) {
    const bytes = new Uint8Array(this.#rest.length + chunk.length);
    bytes.set(this.#rest);
    bytes.set(chunk, this.#rest.length);
    const found = [];
    let start = 0;
    let index = this.#rest.length;
    for (; index < bytes.length; index += 1) {
      const byte = bytes[index];
      if (this.#skipLf) {
        this.#skipLf = false;
        if (byte === LF) {
          start = index + 1;
          continue;
        }
      }
      if (byte !== LF && byte !== CR) continue;
      const event = this.#line(this.#decoder.decode(bytes.subarray(start, index)));
      if (event) found.push(event);
      this.#skipLf = byte === CR;
      start = index + 1;
    }
    this.#rest = bytes.slice(start);
    return found;
  }

  #line(text) {
    const line = this.#isFirstLine ? text.replace(/^\ufeff/, "") : text;
    this.#isFirstLine = false;
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }

  #dispatch() {
    const event = this.#data.length ? { event: this.#event || "message", id: this.#id, data: this.#data.join("\n") } : null;
    this.#data = [];
    this.#event = "";
    return event;
  }
}

export async function readEvents(response, onData) {
  const parser = new SseParser();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const event of parser.push(value)) onData(event.data);
  }
}
