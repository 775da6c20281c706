/** A time as people read it, in UTC. The exact one is in the attribute. */
export function Time({ at }: { at: number }) {
  const iso = new Date(at).toISOString();
  return (
    <time class="soft" datetime={iso}>
      {iso.slice(0, 16).replace("T", " ")} UTC
    </time>
  );
}
