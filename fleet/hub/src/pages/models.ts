/** Model files that a page sends, with its script. */
import type { Router } from "../http/router.ts";
import { handleModel } from "../uploads/models.ts";
import type { Guards } from "./guards.tsx";
import type { Site } from "./site.ts";

export function registerModels(router: Router, site: Site, guards: Guards): void {
  const handler = guards.script(({ exchange, team, session, param }) =>
    handleModel(site, exchange, { teamId: team.id, actor: session.user.email }, param("sha256")),
  );
  router.any("/teams/:team/models/:sha256", handler, { forPrograms: true });
}
