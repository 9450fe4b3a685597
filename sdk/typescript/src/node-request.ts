import { concat } from './hmac.ts'

/** The part of a node:http request that reads its body. */
export type ReadableRequest = AsyncIterable<Uint8Array>

/** Reads the body of a node:http request of at most `limit` bytes. */
export const readBody = async (
  request: ReadableRequest,
  limit: number,
): Promise<Uint8Array | 'too large'> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > limit) return 'too large'
    chunks.push(chunk)
  }
  return concat(chunks)
}
