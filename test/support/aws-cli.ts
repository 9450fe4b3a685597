import { parseArgs } from 'node:util'

/**
 * Stands for the AWS CLI in rehearsals: sends an operation of Secrets Manager to the sandbox at
 * SANDBOX, or at REPLICA for the secret `replica`, and prints the members of `--query` as text.
 * CloudFormation names the sealing key.
 */

const [service, operation = '', ...rest] = process.argv.slice(2)

const pascal = (words: string): string =>
  words.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

const standardInput = async (): Promise<string> =>
  Buffer.concat(await Array.fromAsync(process.stdin as AsyncIterable<Buffer>)).toString()

const { tokens } = parseArgs({ args: rest, strict: false, tokens: true, allowPositionals: true })
const options = new Map<string, string[]>()
let last = ''
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
    if (name === 'version-stages') input[pascal(name)] = values
    else if (value === 'file:///dev/stdin') input[pascal(name)] = await standardInput()
    else input[pascal(name)] = name === 'password-length' ? Number(value) : value
  }
  return input
}

const call = async (): Promise<unknown> => {
  const [secret] = options.get('secret-id') ?? []
  const address = secret === 'replica' ? process.env.REPLICA : process.env.SANDBOX
  const response = await fetch(address ?? '', {
    method: 'POST',
    headers: { 'x-amz-target': `secretsmanager.${pascal(operation)}` },
    body: JSON.stringify(await inputOf()),
  })
  const reply = (await response.json()) as { Message?: string }
  if (!response.ok) throw new Error(reply.Message)
  return reply
}

/** Reads `Name` and `Names[].Name`. */
const select = (value: unknown, query: string): string => {
  const [, list, member = query] = /^(\w+)\[\]\.(\w+)$/.exec(query) ?? []
  const objects = (list ? (value as never)[list] : [value]) as Record<string, string>[]
  return objects.map((object) => object[member]).join('\t')
}

const [query] = options.get('query') ?? []
const print = (text: string) => process.stdout.write(`${text}\n`)

if (service === 'cloudformation') print('sealing-key')
else {
  const reply = await call()
  print(query ? select(reply, query) : JSON.stringify(reply))
}
