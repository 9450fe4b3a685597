import { table } from '../shared/store/table.ts'

/** The last step of the product's DynamoDB client, behind which is the network. */

export type WireRequest = { headers: Record<string, string>; body: Uint8Array }
type Handled = { response: unknown }
type Handle = (request: WireRequest, options?: unknown) => Promise<Handled>

/** A call as it goes over the wire: `UpdateItem`, and its input with marked-up values. */
// biome-ignore lint/suspicious/noExplicitAny: the input of any operation
export type Call = { operation: string; input: any }

export const callOf = ({ headers, body }: WireRequest): Call => ({
  operation: headers['x-amz-target']?.split('.').at(-1) ?? '',
  input: JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()),
})

/** Puts something between the client and the network. @returns a function that takes it out again */
export const tapWire = (
  tap: (request: WireRequest, onwards: () => Promise<Handled>) => Promise<Handled>,
): (() => void) => {
  const end = table.config.requestHandler as unknown as { handle: Handle }
  const { handle } = end
  end.handle = (request, options) => tap(request, () => handle.call(end, request, options))
  return () => {
    end.handle = handle
  }
}

/** A reply of DynamoDB's. */
export const wireReply = (body: object, statusCode = 200): Handled => ({
  response: {
    statusCode,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: Buffer.from(JSON.stringify(body)),
  },
})

/** What is called while some work is done. */
export const recordCalls = async (work: () => Promise<unknown>): Promise<Call[]> => {
  const calls: Call[] = []
  const untap = tapWire((request, onwards) => {
    calls.push(callOf(request))
    return onwards()
  })
  try {
    await work()
    return calls
  } finally {
    untap()
  }
}
