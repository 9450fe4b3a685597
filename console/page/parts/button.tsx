import type { ComponentProps } from 'preact'
import { useRun } from '../use-operator.ts'
import { showFailure } from './toasts.tsx'

type ButtonProps = ComponentProps<'button'> & { work?: () => Promise<unknown> }

/** A button that submits no form. It is disabled during its work, and shows why the work fails. */
export const Button = ({ work, ...props }: ButtonProps) => {
  const { isRunning, run } = useRun()
  const start = work && (() => run(() => work().catch(showFailure)))
  return <button type="button" disabled={isRunning} onClick={start} {...props} />
}

/** A result too large for a reply is downloaded from a URL. */
type CsvReply = string | { url: string } | { download: string }

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
    else location.assign('url' in reply ? reply.url : reply.download)
  }
  return <Button work={download}>{label}</Button>
}
