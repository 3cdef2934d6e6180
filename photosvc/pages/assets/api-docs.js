// The operations of the OpenAPI document, in Swagger UI.
const docs = document.querySelector("#docs");
window.SwaggerUIBundle({
  url: docs.dataset.document, domNode: docs, deepLinking: true, filter: true, docExpansion: "none",
});
