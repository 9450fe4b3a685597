import { Copy } from './copy.tsx'
import { Code } from './values.tsx'

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
