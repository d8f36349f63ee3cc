const TONES_MS = [0, 200]

/** Two low tones for a scan that found nothing: the person who scans looks at the goods, not at the screen. */
export function soundAlarm(): void {
  const context = new AudioContext()
  for (const start of TONES_MS) {
    const tone = new OscillatorNode(context, { type: 'square', frequency: 220 })
    tone.connect(new GainNode(context, { gain: 0.2 })).connect(context.destination)
    tone.start(context.currentTime + start / 1_000)
    tone.stop(context.currentTime + start / 1_000 + 0.12)
    tone.onended = () => {
      if (start === TONES_MS.at(-1)) void context.close()
    }
  }
}
