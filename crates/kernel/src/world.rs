//! Entities and their components: `hecs` behind the rules of a simulation.
//!
//! Ids are generational, so a stale id is an error and never another entity. Deleting waits for the start of the next
//! frame. Structural changes made while systems iterate go through [`Commands`]; nothing here hands out `&mut
//! hecs::World`, which would break the creation order that [`World::ordered`] relies on.

use std::any::type_name;

use hecs::{Bundle, CommandBuffer, Component, DynamicBundle, Query, QueryBorrow};
pub use hecs::{Entity, Ref, RefMut};

use crate::error::{ComponentError, NoSuchEntity};

/// The entity that carries what belongs to the simulation as a whole. It can not be deleted.
pub const SIMULATION: Entity = match Entity::from_bits(1 << 32) {
    Some(entity) => entity,
    None => Entity::DANGLING,
};

/// All entities of a simulation.
pub struct World {
    ecs: hecs::World,
    /// Living entities, oldest first.
    order: Vec<Entity>,
    doomed: Vec<Entity>,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut ecs = hecs::World::new();
        ecs.spawn_at(SIMULATION, ());
        Self { ecs, order: vec![SIMULATION], doomed: Vec::new() }
    }

    /// A new entity with these components.
    pub fn spawn(&mut self, components: impl DynamicBundle) -> Entity {
        let entity = self.ecs.spawn(components);
        self.order.push(entity);
        entity
    }

    /// Puts components on an entity; one it already has is replaced.
    pub fn insert(&mut self, entity: Entity, components: impl DynamicBundle) -> Result<(), NoSuchEntity> {
        self.ecs.insert(entity, components).map_err(|_| NoSuchEntity { entity })
    }

    /// Takes components off an entity: all of the bundle, or none when one is missing.
    pub fn remove<B: Bundle + 'static>(&mut self, entity: Entity) -> Result<B, ComponentError> {
        self.ecs.remove::<B>(entity).map_err(|e| component_error(&e, entity, type_name::<B>()))
    }

    /// Deletes an entity at the start of the next frame (without frames: when the running process next waits). Until
    /// then it stays visible. Deleting twice is harmless; [`SIMULATION`] stays, its deletion is `NoSuchEntity`.
    pub fn delete(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        check_deletable(self, entity)?;
        self.doomed.push(entity);
        Ok(())
    }

    /// Whether this id is of a living entity.
    pub fn contains(&self, entity: Entity) -> bool {
        self.ecs.contains(entity)
    }

    /// One component, borrowed until the result is dropped. Panics, like a `RefCell`, on a conflicting borrow.
    pub fn get<T: Component>(&self, entity: Entity) -> Result<Ref<'_, T>, ComponentError> {
        self.ecs.get::<&T>(entity).map_err(|e| component_error(&e, entity, type_name::<T>()))
    }

    /// One component to be changed. Panics, like a `RefCell`, on a conflicting borrow.
    pub fn get_mut<T: Component>(&self, entity: Entity) -> Result<RefMut<'_, T>, ComponentError> {
        self.ecs.get::<&mut T>(entity).map_err(|e| component_error(&e, entity, type_name::<T>()))
    }

    /// All entities that have the components of `Q`, in storage order: fast, but not reproducible once components
    /// come and go. Name [`Entity`] in the query to get the id.
    pub fn query<Q: Query>(&self) -> QueryBorrow<'_, Q> {
        self.ecs.query::<Q>()
    }

    /// Calls `visit` for all entities that have the components of `Q`, oldest entity first.
    pub fn ordered<Q: Query>(&self, mut visit: impl FnMut(Entity, Q::Item<'_>)) {
        let mut query = self.ecs.query::<Q>();
        let mut view = query.view();
        for &entity in &self.order {
            if let Some(item) = view.get_mut(entity) {
                visit(entity, item);
            }
        }
    }

    /// How many entities live, [`SIMULATION`] included.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Never true: [`SIMULATION`] is always there.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The `hecs` world itself, for what this type does not offer.
    pub fn ecs(&self) -> &hecs::World {
        &self.ecs
    }

    pub(crate) fn apply_deletions(&mut self) {
        if self.doomed.is_empty() {
            return;
        }
        for entity in self.doomed.drain(..) {
            // Deleting one entity twice in a frame is allowed: the second time there is nothing left to do.
            let _ = self.ecs.despawn(entity);
        }
        self.order.retain(|&entity| self.ecs.contains(entity));
    }

    pub(crate) fn apply(&mut self, commands: &mut Commands) {
        self.ecs.flush();
        self.order.append(&mut commands.spawned);
        commands.buffer.run_on(&mut self.ecs);
        self.doomed.append(&mut commands.doomed);
    }
}

/// Structural changes recorded while a frame system iterates, applied when it returns.
#[derive(Default)]
pub(crate) struct Commands {
    buffer: CommandBuffer,
    spawned: Vec<Entity>,
    doomed: Vec<Entity>,
}

impl Commands {
    pub(crate) fn spawn(&mut self, world: &World, components: impl DynamicBundle) -> Entity {
        let entity = world.ecs.reserve_entity();
        self.buffer.insert(entity, components);
        self.spawned.push(entity);
        entity
    }

    pub(crate) fn insert(
        &mut self,
        world: &World,
        entity: Entity,
        components: impl DynamicBundle,
    ) -> Result<(), NoSuchEntity> {
        check_alive(world, entity)?;
        self.buffer.insert(entity, components);
        Ok(())
    }

    pub(crate) fn remove<B: Bundle + 'static>(
        &mut self,
        world: &World,
        entity: Entity,
    ) -> Result<(), NoSuchEntity> {
        check_alive(world, entity)?;
        self.buffer.remove::<B>(entity);
        Ok(())
    }

    pub(crate) fn delete(&mut self, world: &World, entity: Entity) -> Result<(), NoSuchEntity> {
        check_deletable(world, entity)?;
        self.doomed.push(entity);
        Ok(())
    }
}

fn check_alive(world: &World, entity: Entity) -> Result<(), NoSuchEntity> {
    if world.contains(entity) { Ok(()) } else { Err(NoSuchEntity { entity }) }
}

fn check_deletable(world: &World, entity: Entity) -> Result<(), NoSuchEntity> {
    if entity == SIMULATION { Err(NoSuchEntity { entity }) } else { check_alive(world, entity) }
}

fn component_error(error: &hecs::ComponentError, entity: Entity, component: &'static str) -> ComponentError {
    match error {
        hecs::ComponentError::NoSuchEntity => NoSuchEntity { entity }.into(),
        hecs::ComponentError::MissingComponent(_) => ComponentError::MissingComponent { entity, component },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulation_entity_is_a_constant_and_stays() {
        let mut world = World::new();
        assert!(world.contains(SIMULATION));
        assert_ne!(world.spawn(()), SIMULATION);
        assert_eq!(world.delete(SIMULATION), Err(NoSuchEntity { entity: SIMULATION }));
    }

    #[test]
    fn a_component_is_replaced_and_a_missing_one_is_named() {
        let mut world = World::new();
        let entity = world.spawn((1_u8,));
        world.insert(entity, (2_u8,)).expect("alive");
        assert_eq!(*world.get::<u8>(entity).expect("there"), 2);
        let error = world.remove::<(u16,)>(entity).expect_err("not there");
        assert!(error.to_string().contains("u16"), "{error}");
    }

    #[test]
    fn a_stale_id_is_never_another_entity() {
        let mut world = World::new();
        let first = world.spawn((1_u8,));
        world.delete(first).expect("alive");
        world.delete(first).expect("still visible");
        world.apply_deletions();
        let second = world.spawn((2_u8,));
        assert_ne!(first, second);
        assert_eq!(world.get::<u8>(first).map(|_| ()), Err(NoSuchEntity { entity: first }.into()));
        assert_eq!(world.insert(first, (3_u8,)), Err(NoSuchEntity { entity: first }));
        assert_eq!(world.delete(first), Err(NoSuchEntity { entity: first }));
    }

    #[test]
    fn ordered_goes_by_creation_whatever_the_storage() {
        let mut world = World::new();
        let a = world.spawn((0_u8,));
        let b = world.spawn((1_u8, 'x'));
        let c = world.spawn((2_u8,));
        world.delete(a).expect("alive");
        world.apply_deletions();
        let d = world.spawn((3_u8, 'y'));
        world.insert(c, ('z',)).expect("alive");
        let mut seen = Vec::new();
        world.ordered::<&mut u8>(|entity, value| seen.push((entity, *value)));
        assert_eq!(seen, [(b, 1), (c, 2), (d, 3)]);
    }
}
