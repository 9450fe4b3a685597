import type { ComponentChildren } from 'preact'
import { Button, showToast } from './button.tsx'
import { Code } from './values.tsx'

const copy = async (text: string, done: string): Promise<void> => {
  await navigator.clipboard.writeText(text).catch(() => {
    throw new Error('The browser does not allow copying.')
  })
  showToast(done)
}

type CopyProps = { text: string; label: string; done?: string }

/** Copies a text to the clipboard. */
export const Copy = ({ text, label, done = 'Copied.' }: CopyProps) => (
  <Button class="small" work={() => copy(text, done)}>
    {label}
  </Button>
)

type CopiedTextProps = {
  title: string
  text: string
  copy?: string
  /** Names the box. */
  label?: string
  children?: ComponentChildren
}

/** A text in a box, below its title and the button that copies it. */
export const CopiedText = ({ title, text, children, ...names }: CopiedTextProps) => {
  const { copy = title.toLowerCase(), label = title } = names
  return (
    <section>
      <div class="head">
        <h3>{title}</h3>
        {text && <Copy label={`Copy ${copy}`} text={text} />}
      </div>
      {children}
      {text ? <Code label={label} text={text} /> : <small>The {copy} has no body.</small>}
    </section>
  )
}

type Headers = readonly (readonly [name: string, value: string])[]

export const headersText = (headers: Headers): string =>
  headers.map(([name, value]) => `${name}: ${value}`).join('\n')

type Sent = { name: string; headers?: Headers; body: string }

type ExchangeProps = {
  /** The command that sends the request again, and what to set before. */
  curl: string
  done: string
  messages: readonly Sent[]
}

/** A request next to its reply, with the headers that are known. */
export const Exchange = ({ curl, done, messages }: ExchangeProps) => (
  <>
    <Copy label="Copy as curl" text={curl} done={`Copied. ${done}`} />
    <div class="columns">
      {messages.map(({ name, headers = [], body }) => (
        <CopiedText key={name} title={name} label={`Body of the ${name.toLowerCase()}`} text={body}>
          {headers.length > 0 && (
            <details open>
              <summary>Headers</summary>
              <Code label={`Headers of the ${name.toLowerCase()}`} text={headersText(headers)} />
            </details>
          )}
        </CopiedText>
      ))}
    </div>
  </>
)
