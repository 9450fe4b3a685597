import { parseArgs } from 'node:util'

/**
 * Replaces the AWS CLI in rehearsals: sends an operation to the sandbox or the recorded AWS at the
 * address AWS, or to REPLICA for the secret `replica`, and prints the members of `--query` as text.
 * CloudFormation returns the type of the resource.
 */

const [service, operation = '', ...rest] = process.argv.slice(2)

const pascal = (words: string): string =>
  words.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

const standardInput = async (): Promise<string> =>
  Buffer.concat(await Array.fromAsync(process.stdin as AsyncIterable<Buffer>)).toString()

const { tokens } = parseArgs({ args: rest, strict: false, tokens: true, allowPositionals: true })
const options = new Map<string, string[]>()
let last = service === 's3' ? 'paths' : ''
if (last) options.set(last, [])
for (const token of tokens) {
  if (token.kind === 'option') {
    last = token.name
    options.set(last, [])
  } else if (token.kind === 'positional') options.get(last)?.push(token.value)
}

const inputOf = async (): Promise<Record<string, unknown>> => {
  const input: Record<string, unknown> = {}
  for (const [name, values] of options) {
    const [value = true] = values
    if (name === 'query' || name === 'output') continue
    if (name === 'version-stages' || name === 'paths') input[pascal(name)] = values
    else if (value === 'file:///dev/stdin') input[pascal(name)] = await standardInput()
    else input[pascal(name)] = name === 'password-length' ? Number(value) : value
  }
  return input
}

const call = async (): Promise<unknown> => {
  const [secret] = options.get('secret-id') ?? []
  const address = secret === 'replica' ? process.env.REPLICA : process.env.AWS
  const response = await fetch(address ?? '', {
    method: 'POST',
    headers: { 'x-amz-target': `${service}.${pascal(operation)}` },
    body: JSON.stringify(await inputOf()),
  })
  const reply = (await response.json()) as { Message?: string }
  if (!response.ok) throw new Error(reply.Message)
  return reply
}

/** Reads `Name`, `Name.Name` and `Names[].Name`. */
const select = (value: unknown, query: string): string => {
  const [outer = '', ...inner] = query.split('.')
  if (inner.length > 0 && !outer.endsWith('[]'))
    return select((value as never)[outer], inner.join('.'))
  const [, list, member = query] = /^(\w+)\[\]\.(\w+)$/.exec(query) ?? []
  const objects = (list ? (value as never)[list] : [value]) as Record<string, string>[]
  return objects.map((object) => object[member]).join('\t')
}

const [query] = options.get('query') ?? []
const print = (text: string) => process.stdout.write(`${text}\n`)

if (service === 'cloudformation') {
  const [type = ''] = /AWS::\w+::\w+/.exec(query ?? '') ?? []
  print(type === 'AWS::SecretsManager::Secret' ? 'sealing-key' : type)
} else {
  const reply = await call()
  print(query ? select(reply, query) : JSON.stringify(reply))
}
