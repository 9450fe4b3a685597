import { useRun } from '../use-operator.ts'
import { showFailure } from './toasts.tsx'

/** A result too large for a reply is downloaded from a URL. */
type CsvReply = string | { url: string } | { download: string }

const save = (name: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

type CsvButtonProps = { label?: string; name: string; load: () => Promise<CsvReply> }

/** Downloads a CSV file. */
export const CsvButton = ({ label = 'Download CSV', name, load }: CsvButtonProps) => {
  const { isRunning, run } = useRun()
  const download = async (): Promise<void> => {
    const reply = await load()
    if (typeof reply === 'string') save(name, reply)
    else location.assign('url' in reply ? reply.url : reply.download)
  }
  return (
    <button
      type="button"
      disabled={isRunning}
      onClick={() => run(() => download().catch(showFailure))}
    >
      {label}
    </button>
  )
}
