import { signal } from '@preact/signals'
import type { ComponentProps } from 'preact'
import { useRun } from '../use-operator.ts'

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

type ButtonProps = ComponentProps<'button'> & { work?: () => Promise<unknown> }

/** A button that submits no form. It is disabled during its work, and shows why the work fails. */
export const Button = ({ work, ...props }: ButtonProps) => {
  const { isRunning, run } = useRun()
  const start = work && (() => run(() => work().catch(showFailure)))
  return <button type="button" disabled={isRunning} onClick={start} {...props} />
}

export const Toasts = () => (
  <ul class="toasts" aria-live="polite">
    {toasts.value.map((toast) => (
      <li key={toast} class={toast.isFailure ? 'failed' : ''}>
        {toast.text}
        {toast.isFailure && (
          <Button class="small" onClick={() => close(toast)}>
            Close
          </Button>
        )}
      </li>
    ))}
  </ul>
)

/** A result too large for a reply is downloaded from a URL. */
type CsvReply = string | { download: string }

const save = (name: string, text: string): void => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

type CsvButtonProps = { label?: string; name: string; load: () => Promise<CsvReply> }

/** Downloads a CSV file. */
export const CsvButton = ({ label = 'Download CSV', name, load }: CsvButtonProps) => {
  const download = async (): Promise<void> => {
    const reply = await load()
    if (typeof reply === 'string') save(name, reply)
    else location.assign(reply.download)
  }
  return <Button work={download}>{label}</Button>
}
