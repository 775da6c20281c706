/** Section of a device's page with the device's tags. */
import { Csrf } from "./layout.tsx";

export function Tags({ address, csrf, tags }: { address: string; csrf: string; tags: readonly string[] }) {
  return (
    <form method="post" action={`${address}/tags`} class="line">
      <Csrf value={csrf} />
      <div>
        <label for="tags">Tags, with commas between them</label>
        <input id="tags" name="tags" maxlength={2000} autocomplete="off" value={tags.join(", ")} />
      </div>
      <button type="submit">Save</button>
    </form>
  );
}
