/** A time as people read it, in UTC. The attribute has the exact time. */
export function Time({ at }: { at: number }) {
  const iso = new Date(at).toISOString();
  return (
    <time class="soft" datetime={iso}>
      {iso.slice(0, 16).replace("T", " ")} UTC
    </time>
  );
}
