import VPNav from "@default-theme/VPNav.vue";
import { takenOverLater } from "./later.ts";

export default takenOverLater(VPNav);
