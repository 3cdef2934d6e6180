// Types of pages that a type checker cannot know: which elements a selector finds, and which element has an event.

export {};

declare global {
  interface ParentNode {
    querySelector(selectors: string): any;
    querySelectorAll(selectors: string): NodeListOf<any>;
  }
  interface Element {
    closest(selectors: string): any;
  }
  // Targets of events are elements of pages.
  interface EventTarget {
    action: any;
    closest: any;
    dataset: any;
    form: any;
    matches: any;
    removeAttribute: any;
  }
  interface Document {
    readonly activeElement: any;
    createElement(tag: string): any;
    getElementById(id: string): any;
  }
  interface Window {
    SwaggerUIBundle: any;
  }
  interface DataTransferItem {
    webkitGetAsEntry(): any;
  }
}
