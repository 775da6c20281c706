/** How often tests kill a process in the middle of its work. BOXWRIGHT_KILLS=20 says more than the default. */
export const KILLS = Number(process.env["BOXWRIGHT_KILLS"] ?? 3);
