export function petsWords(pets: number): string {
  return `${pets.toLocaleString('en')} ${pets === 1 ? 'pet' : 'pets'}`
}

export function piecesWords(pieces: number): string {
  return `${pieces.toLocaleString('en')} ${pieces === 1 ? 'piece' : 'pieces'}`
}
