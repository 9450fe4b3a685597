import { signal } from '@preact/signals'

const SHOWN_MS = 6_000

type Toast = { text: string; isFailure: boolean }

const toasts = signal<readonly Toast[]>([])

const close = (closed: Toast): void => {
  toasts.value = toasts.value.filter((toast) => toast !== closed)
}

/** Shows a message for six seconds, a failure until it is closed. Screen readers announce it. */
export const showToast = (text: string, { isFailure = false } = {}): void => {
  const toast = { text, isFailure }
  toasts.value = [...toasts.value, toast]
  if (!isFailure) setTimeout(() => close(toast), SHOWN_MS)
}

export const showFailure = ({ message }: Error): void => showToast(message, { isFailure: true })

export const Toasts = () => (
  <div class="toasts" aria-live="polite">
    <ul>
      {toasts.value.map((toast) => (
        <li key={toast} class={toast.isFailure ? 'failed' : ''}>
          {toast.text}
          {toast.isFailure && (
            <button type="button" class="small" onClick={() => close(toast)}>
              Close
            </button>
          )}
        </li>
      ))}
    </ul>
  </div>
)
