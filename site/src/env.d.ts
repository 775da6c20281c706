/// <reference types="vitepress/client" />
declare module "*.wasm?url" {
  const address: string;
  export default address;
}
declare module "*.vue" {
  import type { Component } from "vue";
  const component: Component;
  export default component;
}
