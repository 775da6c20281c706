/** The button that sends a model file, or the archive of a release, by script. */
import { useContext } from "hono/jsx";
import { CsrfToken } from "./forms.tsx";

export function ModelUpload({ teamId, label }: { teamId: string; label: string }) {
  return (
    <>
      <p class="actions" data-upload={`/teams/${teamId}/models`} data-csrf={useContext(CsrfToken)} hidden>
        <label class="button" for="model-file">
          {label}
        </label>
        <input id="model-file" type="file" class="hidden" />
        <span id="model-file-status" role="status"></span>
      </p>
      <script type="module" src="/application.js"></script>
    </>
  );
}
