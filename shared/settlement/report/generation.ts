import { GetObjectCommand, NoSuchKey, PutObjectCommand } from '@aws-sdk/client-s3'
import { environment } from '../../runtime.ts'
import { s3 } from './bucket.ts'

/**
 * The highest generation of the table (docs/api.md#restores), stored in the bucket: a restored table
 * lacks the records of the restores that it undoes.
 */
export type RecordedGeneration = {
  generation: number
  /** Whether the table has its record. If not, `restore begin` was interrupted. */
  isInTable: boolean
}

const place = () => ({ Bucket: environment.reportsBucket, Key: 'restores/generation.json' })

/** Reads the highest generation; 1 before any restore. */
export const readGeneration = async (): Promise<RecordedGeneration> => {
  try {
    const { Body } = await s3().send(new GetObjectCommand(place()))
    return JSON.parse((await Body?.transformToString()) ?? '')
  } catch (error) {
    if (error instanceof NoSuchKey) return { generation: 1, isInTable: true }
    throw error
  }
}

export const writeGeneration = async (recorded: RecordedGeneration): Promise<void> => {
  await s3().send(
    new PutObjectCommand({
      ...place(),
      Body: JSON.stringify(recorded),
      ContentType: 'application/json',
    }),
  )
}
