import { showFailure, showToast } from './toasts.tsx'
import { Code } from './values.tsx'

const copy = (text: string, done: string): Promise<void> =>
  navigator.clipboard.writeText(text).then(
    () => showToast(done),
    () => showFailure(new Error('The browser does not allow copying.')),
  )

type CopyProps = { text: string; label?: string; done?: string }

/** Copies a text to the clipboard. */
export const Copy = ({ text, label = 'Copy', done = 'Copied.' }: CopyProps) => (
  <button type="button" class="small" onClick={() => void copy(text, done)}>
    {label}
  </button>
)

type CopiedTextProps = { title: string; text: string; copy?: string }

/** A text in a box, below its title and the button that copies it. */
export const CopiedText = ({ title, text, copy = title.toLowerCase() }: CopiedTextProps) => (
  <div>
    <div class="head">
      <h3>{title}</h3>
      <Copy label={`Copy ${copy}`} text={text} />
    </div>
    <Code label={title} text={text} />
  </div>
)

type Headers = readonly (readonly [name: string, value: string])[]

export const headersText = (headers: Headers): string =>
  headers.map(([name, value]) => `${name}: ${value}`).join('\n')

type MessageProps = { name: string; headers?: Headers; body: string }

/** A request or its reply, with the headers that are known. */
export const Message = ({ name, headers = [], body }: MessageProps) => {
  const lower = name.toLowerCase()
  return (
    <section>
      <div class="head">
        <h3>{name}</h3>
        {body && <Copy label={`Copy ${lower}`} text={body} />}
      </div>
      {headers.length > 0 && (
        <details open>
          <summary>Headers</summary>
          <Code label={`Headers of the ${lower}`} text={headersText(headers)} />
        </details>
      )}
      {body ? (
        <Code label={`Body of the ${lower}`} text={body} />
      ) : (
        <small>The {lower} has no body.</small>
      )}
    </section>
  )
}
