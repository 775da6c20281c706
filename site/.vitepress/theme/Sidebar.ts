import VPSidebar from "@default-theme/VPSidebar.vue";
import { takenOverLater } from "./later.ts";

export default takenOverLater(VPSidebar);
