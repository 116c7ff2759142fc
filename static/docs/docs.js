// Shows the API's description; requests are sent as the person who is logged in here.

const page = document.getElementById("api");

function csrfToken() {
  const found = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  return found ? decodeURIComponent(found[1]) : "";
}

globalThis.SwaggerUIBundle({
  domNode: page,
  url: page.dataset.description,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  requestInterceptor(request) {
    request.headers["X-CSRFToken"] = csrfToken();
    return request;
  },
});
