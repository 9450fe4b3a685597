import { showToast } from './toasts.tsx'

const copy = async (text: string, done: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    showToast(done)
  } catch {
    showToast('The browser does not allow copying.', { isFailure: true })
  }
}

type CopyProps = { text: string; label?: string; done?: string }

/** Copies a text to the clipboard. */
export const Copy = ({ text, label = 'Copy', done = 'Copied.' }: CopyProps) => (
  <button type="button" class="small" onClick={() => void copy(text, done)}>
    {label}
  </button>
)
