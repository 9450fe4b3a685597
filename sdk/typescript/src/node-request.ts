import { concat } from './hmac.ts'

/** The part of a node:http request that reads its body. */
export type ReadableRequest = AsyncIterable<Uint8Array> & {
  /** Whether anything has read from the stream, in Node. */
  readableDidRead?: boolean | undefined
}

export const BODY_IS_PARSED = 'the body is parsed already: install no parser before this listener'

/**
 * Reads the body of a node:http request of at most `limit` bytes.
 * @throws TypeError if a parser has read it: the empty rest would seem to have a wrong signature
 */
export const readBody = async (
  request: ReadableRequest,
  limit: number,
): Promise<Uint8Array | 'too large'> => {
  if (request.readableDidRead) throw new TypeError(BODY_IS_PARSED)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > limit) return 'too large'
    chunks.push(chunk)
  }
  return concat(chunks)
}
