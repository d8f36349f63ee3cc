import { useEffect, useRef, useState } from 'preact/compat'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** The part of the Barcode Detection API that is used here. TypeScript does not know it yet. */
interface BarcodeDetector {
  detect(source: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>
}
type DetectorClass = new () => BarcodeDetector

const LOOK_EVERY_MS = 200
/** The same code counts again after it was out of sight for this long. */
const FORGET_AFTER_MS = 1_500

function detectorClass(): DetectorClass | undefined {
  // Browsers without the API have no such property.
  return (globalThis as { readonly BarcodeDetector?: DetectorClass }).BarcodeDetector
}

export function hasBarcodeCamera(): boolean {
  return detectorClass() !== undefined && navigator.mediaDevices !== undefined
}

interface Props {
  readonly onScan: (barcode: string) => void
  readonly onClose: () => void
}

export function CameraScan({ onScan, onClose }: Props) {
  const video = useRef<HTMLVideoElement>(null)
  const handler = useRef(onScan)
  handler.current = onScan
  const [lastCode, setLastCode] = useState<string>()
  const [failure, setFailure] = useState<string>()
  useEffect(() => {
    const ending = new AbortController()
    const onCode = (code: string) => {
      setLastCode(code)
      handler.current(code)
    }
    watchCamera(video.current, onCode, ending.signal).catch(() =>
      setFailure('The camera cannot be used. Allow it for this page in the settings of the browser.'),
    )
    return () => ending.abort()
  }, [])
  return (
    <Dialog title="Scan with the camera" onClose={onClose}>
      {(close) => (
        <>
          <video ref={video} className="sell__camera" muted playsInline />
          <p role="status">
            {failure ??
              (lastCode === undefined ? 'Hold a barcode in front of the camera.' : `Scanned ${lastCode}`)}
          </p>
          <div className="dialog__actions">
            <Button tone="primary" onClick={close}>
              Done
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

async function watchCamera(
  video: HTMLVideoElement | null,
  onCode: (code: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const Detector = detectorClass()
  if (video === null || Detector === undefined) return
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
  const stop = () => {
    for (const track of stream.getTracks()) track.stop()
  }
  if (signal.aborted) return stop()
  signal.addEventListener('abort', stop)
  video.srcObject = stream
  await video.play()
  const detector = new Detector()
  let last = { code: '', seenAt: 0 }
  while (!signal.aborted) {
    const [found] = await detector.detect(video).catch(() => [])
    const now = performance.now()
    if (found !== undefined) {
      const isNew = found.rawValue !== last.code || now - last.seenAt > FORGET_AFTER_MS
      last = { code: found.rawValue, seenAt: now }
      if (isNew) onCode(found.rawValue)
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
