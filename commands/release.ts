import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { buildBundles } from '../infra/bundles/build.ts'
import { stageNames } from '../infra/definitions/stages.ts'
import manifest from '../package.json' with { type: 'json' }
import { readArguments } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'
import { billOfMaterials, pythonComponent, thirdPartyNotices } from './third-party-notices.ts'

/** `npm run -s release`: builds what a release consists of, with its bills of materials and digests. */

const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'dist/release')

const { values, positionals, refuse } = await readArguments({
  name: 'release',
  form: '[--check]',
  summary:
    'Builds the files of a release into dist/release: bundles and templates of each stage, the packed\n' +
    'sandbox, both clients, their bills of materials, the site of the docs, and SHA256SUMS. With --check it\n' +
    'builds them again in another folder, which must give the same bytes, and prints what has run on AWS\n' +
    'and the steps that it skips.',
  options: { check: { type: 'boolean' } },
})
if (positionals.length > 0) refuse()
process.chdir(ROOT)

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const run = (program: string, words: readonly string[], cwd = ROOT): string =>
  execFileSync(program, words, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    // Archives of Python contain times.
    env: { ...process.env, SOURCE_DATE_EPOCH: '315532800' },
  }).trim()

/** Writes an archive whose bytes depend on the files alone. */
const archive = (name: string, folder: string): void => {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mtime=@315532800']
  const words = ['--sort=name', ...owner, '--mode=u=rwX,go=rX', '--create', '--directory', folder]
  execFileSync('tar', [...words, '--file', join(FOLDER, `${name}.tar`), '.'])
  execFileSync('gzip', ['--no-name', '--force', join(FOLDER, `${name}.tar`)])
}

/** Builds bundles once, and the templates of each stage, which contain them. */
const buildStages = async (): Promise<void> => {
  const folder = join(ROOT, 'dist/stages')
  rmSync(folder, { recursive: true, force: true })
  const { inputs } = await buildBundles()
  for (const stage of stageNames) {
    run('cdk', ['synth', '--quiet', '-c', `stage=${stage}`, '--output', join(folder, stage)])
  }
  for (const file of globSync(join(folder, '*/performance-counters.json'))) rmSync(file)
  // The metadata of a stack names this folder in traces.
  for (const file of globSync(join(folder, '*/*.metadata.json'))) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`file://${ROOT}/`, ''))
  }
  // The CDK adds a function that empties the buckets of a stage without `keepsData`.
  const sources = [...Object.keys(inputs), 'node_modules/aws-cdk-lib/custom-resource-handlers']
  cpSync('LICENSE', join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES'), thirdPartyNotices(ROOT, sources, []))
  const bill = billOfMaterials(manifest, ROOT, sources, [])
  writeFileSync(join(FOLDER, 'stages.cdx.json'), bill)
  archive('stages', folder)
}

const buildSandbox = (): void => {
  const tarball = run('node', ['commands/pack.ts'])
  cpSync(tarball, join(FOLDER, basename(tarball)))
  cpSync('dist/package/sbom.cdx.json', join(FOLDER, 'sandbox.cdx.json'))
}

/** The scripts of the site contain these packages. */
const DOCS_PACKAGES = ['@scalar/api-reference', 'minisearch']

const buildDocs = (): void => {
  run('node', ['commands/write-docs.ts'])
  cpSync('LICENSE', 'dist/docs/LICENSE')
  writeFileSync('dist/docs/THIRD-PARTY-NOTICES', thirdPartyNotices(ROOT, [], DOCS_PACKAGES))
  const bill = billOfMaterials({ ...manifest, name: 'docs' }, ROOT, [], DOCS_PACKAGES)
  writeFileSync(join(FOLDER, 'docs.cdx.json'), bill)
  archive('docs', join(ROOT, 'dist/docs'))
}

/** The clients have no packages inside; the Python client depends on httpx, the other one on none. */
const buildClients = (): void => {
  run('npm', ['pack', '--silent', '--pack-destination', FOLDER], join(ROOT, 'sdk/typescript'))
  run('node', ['proofs/python-client.ts', 'build', FOLDER])
  const names = { typescript: 'debit-collection', python: 'debit-collection' }
  for (const [language, name] of Object.entries(names)) {
    const bill = JSON.parse(billOfMaterials({ ...manifest, name }, ROOT, [], []))
    if (language === 'python') bill.components.push(pythonComponent('httpx', 'BSD-3-Clause'))
    writeFileSync(
      join(FOLDER, `${language}-client.cdx.json`),
      `${JSON.stringify(bill, undefined, 2)}\n`,
    )
  }
}

const writeDigests = (): void => {
  const lines = globSync('*', { cwd: FOLDER })
    .sort()
    .map((file) => {
      const hash = createHash('sha256').update(readFileSync(join(FOLDER, file)))
      return `${hash.digest('hex')}  ${file}`
    })
  writeFileSync(join(FOLDER, 'SHA256SUMS'), `${lines.join('\n')}\n`)
  for (const line of lines) print(line)
}

/** Compares the API with that of the last release; a copy without tags has none. */
const compareWithLast = (): void => {
  const words = ['describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^']
  let tag: string
  try {
    tag = execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    print('skipped: openapi:compare, because no earlier tag v* exists')
    return
  }
  const base = join(ROOT, 'dist/base.json')
  writeFileSync(base, run('git', ['show', `${tag.trim()}:docs/openapi.json`]))
  try {
    run('node', ['commands/compare-openapi.ts', base])
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string }
    if (status !== 1) throw error
    fail(`the API breaks callers of ${tag.trim()}:\n${stdout}`)
  }
}

/** Builds a copy of the sources in another folder. Paths, times or orders in the files would differ. */
const compareWithAnotherFolder = (): void => {
  const copy = join(ROOT, 'dist/another/folder')
  rmSync(copy, { recursive: true, force: true })
  const sources = run('git', ['ls-files', '--cached', '--others', '--exclude-standard'])
  for (const file of sources.split('\n').filter(existsSync)) cpSync(file, join(copy, file))
  for (const folder of ['node_modules', 'proofs/node_modules'].filter(existsSync)) {
    run('cp', ['--archive', '--link', folder, join(copy, folder)])
  }
  const PATH = `${join(copy, 'node_modules/.bin')}:${process.env.PATH}`
  const options = { cwd: copy, env: { ...process.env, PATH }, encoding: 'utf8' } as const
  execFileSync(process.execPath, ['commands/release.ts'], { ...options, stdio: 'pipe' })
  const digests = (folder: string) => readFileSync(join(folder, 'dist/release/SHA256SUMS'), 'utf8')
  const again = digests(copy).split('\n')
  const differing = digests(ROOT)
    .split('\n')
    .filter((line) => !again.includes(line))
  if (differing.length > 0) fail(`a build in ${copy} differs:\n${differing.join('\n')}`)
  print('a build in another folder has the same digests')
  rmSync(copy, { recursive: true })
}

/** Prints the table of what has run on AWS, and a warning about the rest. */
const printExperience = (): void => {
  const page = readFileSync('docs/deployment.md', 'utf8')
  const [, section = fail('no table of what ran')] =
    /## What has run on AWS\n\n(.*?\n\|.*?)\n\n/s.exec(page) ?? []
  print(section)
  const untried = [...section.matchAll(/^\| (.+?) \| `/gm)].map(([, part]) => part)
  // GitHub shows this form at the run of a tag.
  const mark = process.env.GITHUB_ACTIONS ? '::warning::' : 'warning: '
  if (untried.length > 0) print(`${mark}not yet on AWS: ${untried.join('; ')}`)
}

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
compareWithLast()
await buildStages()
buildSandbox()
buildClients()
buildDocs()
writeDigests()
if (values.check) {
  compareWithAnotherFolder()
  printExperience()
  print('skipped: attestation, which needs the identity of a workflow')
  print('skipped: npm publish, PyPI, the GitHub release and the branch of the docs')
}
