import VPHome from "@default-theme/VPHome.vue";
import { type FunctionalComponent, h } from "vue";

/** The first page as the main part of the document: the theme has no such element there. */
const Home: FunctionalComponent = (props, { slots }) => h("main", [h(VPHome, props, slots)]);

export default Home;
