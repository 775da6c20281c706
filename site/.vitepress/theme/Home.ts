import VPHome from "@default-theme/VPHome.vue";
import { type FunctionalComponent, h } from "vue";

/** Puts the first page into the document's main element, which the theme lacks there. */
const Home: FunctionalComponent = (props, { slots }) => h("main", [h(VPHome, props, slots)]);

export default Home;
