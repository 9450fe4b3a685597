import { openApi } from '../../sdk/openapi/document.ts'

/** The operations of the description, and calls of each. */

/** An operation, its parameters and body, the expected answer, and the credential. */
export type Row = [
  operation: string,
  options: Record<string, unknown>,
  answer: string,
  credential?: string,
]

type DescribedOperation = {
  operationId: string
  tags: string[]
  parameters?: { name: string; in: string; required?: boolean; example?: unknown }[]
  requestBody?: { content: { 'application/json': { examples: Record<string, { value: object }> } } }
  'x-rate-limit': { code: number }
  responses: Record<string, { 'x-error-codes'?: number[] }>
}

const paths = openApi().paths as Record<string, Record<string, DescribedOperation>>

export const described = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

const find = (name: string) => {
  const found = described.find(({ operation }) => operation.operationId === name)
  if (!found) throw new Error(`${name} is not described`)
  return found
}
export const isOfBank = (name: string): boolean => find(name).path.startsWith('/api/v1/banks')
export const names = described.map(({ operation }) => operation.operationId)

/** Splits options by the places of parameters. */
const initOf = (name: string, { body, ...options }: Record<string, unknown>) => {
  const places = Object.groupBy(Object.entries(options), ([option]) =>
    /^X-/.test(option)
      ? 'header'
      : (find(name).operation.parameters?.find((one) => one.name === option)?.in ?? 'query'),
  )
  const params = Object.entries(places).map(([place, entries = []]) => [
    place,
    Object.fromEntries(entries),
  ])
  return { params: Object.fromEntries(params), ...(body ? { body } : {}) }
}

/** Returns a row in the form that call.py and call.mts read. */
export const lineOf = ([name, options, , credential]: Row): object => {
  const { path, method, operation } = find(name)
  return {
    ...{ operation: name, options, path, method, init: initOf(name, options) },
    credential: credential ?? (isOfBank(name) ? 'bt_sandbox_gcb' : 'sk_sandbox_demo'),
    tag: operation.tags[0]?.toLowerCase().replace(' ', '_'),
    parseAs: ['csv', 'html'].includes(String(options.format)) ? 'text' : 'json',
  }
}

/** Returns the options of an operation for an object that does not exist, else for the seeds. */
export const anyOptions = (name: string): Record<string, unknown> => {
  const { parameters = [], requestBody } = find(name).operation
  const required = parameters.filter((one) => one.required)
  const [example] = Object.values(requestBody?.content['application/json'].examples ?? {})
  return {
    ...Object.fromEntries(required.map((one) => [one.name, one.example])),
    ...(example ? { body: example.value } : {}),
  }
}

export const everyRow = (
  of: readonly string[],
  answer: string,
  credential: string,
  more = {},
): Row[] => of.map((name) => [name, { ...anyOptions(name), ...more }, answer, credential])
export const ofProviders = names.filter((name) => !isOfBank(name))

/** Answers that no call of a generated client causes in a sandbox: faults, outages, other kinds of calls. */
const UNREACHABLE = [
  / (?:405\/1405|429\/1429|403\/1452|500\/1500|503\/1503|504\/2408)$/,
  // Banks are not suspended.
  /^(?:updateDebitTransaction|debitCallback|listDebitTransactions) 403\/1403$/,
  // Only a wrong body causes it, and this operation has none.
  /^listDebitTransactions 400\/1400$/,
  // A report over 4 MB, a batch while the service builds it, and a receiver that fails for days.
  /^getSettlementReport (?:303|400\/5001)$/,
  /^redeliverEvent 409\/1409$/,
]

/** The documented answers that calls can cause, as `charge 409/3003`. */
export const reachable = described
  .flatMap(({ operation }) =>
    Object.entries(operation.responses).flatMap(([status, { 'x-error-codes': codes }]) => {
      const answers = codes ? codes.map((code) => `${status}/${code}`) : [status]
      return answers.map((answer) => `${operation.operationId} ${answer}`)
    }),
  )
  .filter((answer) => !UNREACHABLE.some((one) => one.test(answer)))
