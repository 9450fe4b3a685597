import { Readable } from 'node:stream'
import { S3Client } from '@aws-sdk/client-s3'
import { expect, test, vi } from 'vitest'
import { readLines } from '../../shared/audit/bucket.ts'
import { TODAY } from '../reconciliation/one-day.ts'

/** Files of the audit bucket, which arrive in chunks. */

test.each([1, 2, 3, 100])(
  'the lines of a file in chunks of %d bytes are the written ones',
  async (size) => {
    const lines = ['{"by":"Akosua Ɔfɔri"}', '{"note":"₵ 5.00"}', '{"note":"€"}']
    const bytes = Buffer.from(`${lines.join('\n')}\n`)
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.subarray(n * size, (n + 1) * size),
    )
    vi.spyOn(S3Client.prototype, 'send').mockImplementation(async () => ({
      Body: Readable.from(chunks),
    }))
    expect(await Array.fromAsync(readLines(TODAY, 'changes'))).toEqual(lines)
  },
)
