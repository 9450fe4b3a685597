import { signal } from '@preact/signals'

const SHOWN_MS = 6_000

const toasts = signal<readonly { id: number; text: string; isFailure: boolean }[]>([])
let lastId = 0

/** Shows a message for six seconds and announces it to screen readers. */
export const showToast = (text: string, { isFailure = false } = {}): void => {
  lastId += 1
  const toast = { id: lastId, text, isFailure }
  toasts.value = [...toasts.value, toast]
  setTimeout(() => {
    toasts.value = toasts.value.filter(({ id }) => id !== toast.id)
  }, SHOWN_MS)
}

export const Toasts = () => (
  <div class="toasts" aria-live="polite">
    <ul>
      {toasts.value.map(({ id, text, isFailure }) => (
        <li key={id} class={isFailure ? 'failed' : ''}>
          {text}
        </li>
      ))}
    </ul>
  </div>
)
