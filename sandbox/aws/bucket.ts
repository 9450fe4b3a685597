import { Readable } from 'node:stream'
import { NoSuchKey, S3ServiceException } from '@aws-sdk/client-s3'
import type { Journal, StoredObject } from './journal.ts'

/** S3. Large objects arrive in parts. The buckets of a stage have no key in common. */

type ObjectInput = {
  Key: string
  Body?: Uint8Array | string
  ContentType?: string
  ContentDisposition?: string
  IfNoneMatch?: string
}
type PartInput = { UploadId: string; PartNumber: number; Body: Uint8Array | string }
type Completion = Pick<PartInput, 'UploadId'> & Pick<ObjectInput, 'IfNoneMatch'>

const exists = (message: string) =>
  new S3ServiceException({
    ...{ name: 'PreconditionFailed', message, $fault: 'client' },
    $metadata: { httpStatusCode: 412 },
  })

export const newBucket = (journal: Journal) => {
  const objects = new Map<string, StoredObject>()
  const uploads = new Map<string, { input: ObjectInput; parts: Map<number, Buffer> }>()

  const store = (input: ObjectInput, body: Buffer): object => {
    if (input.IfNoneMatch === '*' && objects.has(input.Key)) throw exists(input.Key)
    const object = {
      key: input.Key,
      type: input.ContentType ?? 'application/octet-stream',
      disposition: input.ContentDisposition ?? 'inline',
      body: body.toString('latin1'),
    }
    journal.write({ object })
    objects.set(input.Key, object)
    return { ETag: `"${input.Key}"` }
  }

  const partsOf = (id: string) => {
    const upload = uploads.get(id)
    if (!upload) throw new Error(`There is no upload ${id}`)
    return upload
  }

  return {
    objects,
    calls: {
      PutObjectCommand: (input: ObjectInput) => store(input, Buffer.from(input.Body ?? '')),
      GetObjectCommand: ({ Key }: ObjectInput) => {
        const object = objects.get(Key)
        if (!object) throw new NoSuchKey({ $metadata: { httpStatusCode: 404 }, message: Key })
        const bytes = Buffer.from(object.body, 'latin1')
        const Body = Object.assign(Readable.from([bytes]), {
          transformToString: async () => bytes.toString('utf8'),
        })
        return {
          Body,
          ContentLength: bytes.length,
          ContentType: object.type,
          ContentDisposition: object.disposition,
        }
      },
      CreateMultipartUploadCommand: (input: ObjectInput) => {
        const UploadId = `${input.Key}#${uploads.size}`
        uploads.set(UploadId, { input, parts: new Map() })
        return { UploadId }
      },
      UploadPartCommand: ({ UploadId, PartNumber, Body }: PartInput) => {
        partsOf(UploadId).parts.set(PartNumber, Buffer.from(Body))
        return { ETag: `"${PartNumber}"` }
      },
      CompleteMultipartUploadCommand: ({ UploadId, IfNoneMatch }: Completion) => {
        const { input, parts } = partsOf(UploadId)
        uploads.delete(UploadId)
        const bodies = [...parts].sort(([a], [b]) => a - b).map(([, body]) => body)
        return store({ ...input, ...(IfNoneMatch && { IfNoneMatch }) }, Buffer.concat(bodies))
      },
      AbortMultipartUploadCommand: ({ UploadId }: Pick<PartInput, 'UploadId'>) => {
        uploads.delete(UploadId)
        return {}
      },
    },
  }
}

export type Bucket = ReturnType<typeof newBucket>
