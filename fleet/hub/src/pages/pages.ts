/** Registers every page, and returns the handler for all other paths. */
import type { Passwords } from "../auth/derive.ts";
import type { Handler, Router } from "boxwright-service/http/router";
import type { Services } from "../http/services.ts";
import { registerAccount } from "./account.tsx";
import { registerAlerts } from "./alerts.tsx";
import { notFound } from "./answer.tsx";
import { registerApplication } from "./application.tsx";
import { registerApplicationEdit } from "./application-edit.tsx";
import { registerApplications } from "./applications.tsx";
import { registerAdoptKeys } from "./adopt-keys.tsx";
import { registerAudit } from "./audit.tsx";
import { registerDevice } from "./device.tsx";
import { registerGroups } from "./groups.tsx";
import { registerDevices } from "./devices.tsx";
import { createGuards, frameOf } from "./guards.tsx";
import { registerLink } from "./open-link.tsx";
import { registerMembers } from "./members.tsx";
import { registerModels } from "./models.tsx";
import { registerSettings } from "./settings.tsx";
import { registerSignIn } from "./sign-in.tsx";
import { registerSnaps } from "./snaps.tsx";
import { createSite } from "./site.ts";
import { registerTeams } from "./teams.tsx";

export function registerPages(router: Router, services: Services & { readonly passwords: Passwords }): Handler {
  const site = createSite(services);
  const guards = createGuards(site, router);
  for (const register of [
    registerSignIn,
    registerLink,
    registerTeams,
    registerAccount,
    registerDevices,
    registerApplications,
    registerApplication,
    registerApplicationEdit,
    registerModels,
    registerDevice,
    registerGroups,
    registerAlerts,
    registerAdoptKeys,
    registerAudit,
    registerSnaps,
    registerSettings,
    registerMembers,
  ])
    register(site, guards);
  return guards.otherwise((visit) => notFound(frameOf(visit, "Not found")));
}
