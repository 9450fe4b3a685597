import { signal } from '@preact/signals'

const SHOWN_MS = 6_000

const toasts = signal<readonly { id: number; text: string; isFailure: boolean }[]>([])
let lastId = 0

const close = (closed: number): void => {
  toasts.value = toasts.value.filter(({ id }) => id !== closed)
}

/** Shows a message for six seconds, a failure until it is closed. Screen readers announce it. */
export const showToast = (text: string, { isFailure = false } = {}): void => {
  lastId += 1
  const toast = { id: lastId, text, isFailure }
  toasts.value = [...toasts.value, toast]
  if (!isFailure) setTimeout(() => close(toast.id), SHOWN_MS)
}

export const showFailure = ({ message }: Error): void => showToast(message, { isFailure: true })

export const Toasts = () => (
  <div class="toasts" aria-live="polite">
    <ul>
      {toasts.value.map(({ id, text, isFailure }) => (
        <li key={id} class={isFailure ? 'failed' : ''}>
          {text}
          {isFailure && (
            <button type="button" class="small" onClick={() => close(id)}>
              Close
            </button>
          )}
        </li>
      ))}
    </ul>
  </div>
)
