/** A time in UTC for people. The attribute `datetime` has the exact time. */
export function Time({ at }: { at: number }) {
  const iso = new Date(at).toISOString();
  return (
    <time class="soft" datetime={iso}>
      {iso.slice(0, 16).replace("T", " ")} UTC
    </time>
  );
}
