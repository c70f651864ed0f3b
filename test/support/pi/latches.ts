/** Named doors that are shut until somebody opens them; an open door stays open. */
export class Latches {
  readonly #doors = new Map<string, PromiseWithResolvers<void>>();
  #allOpen = false;

  async passed(name: string): Promise<void> {
    if (!this.#allOpen) await this.#door(name).promise;
  }

  open(name: string): void {
    this.#door(name).resolve();
  }

  openAll(): void {
    this.#allOpen = true;
    for (const door of this.#doors.values()) door.resolve();
  }

  #door(name: string): PromiseWithResolvers<void> {
    const door = this.#doors.get(name) ?? Promise.withResolvers<void>();
    this.#doors.set(name, door);
    return door;
  }
}
